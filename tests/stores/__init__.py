"""Tests of the stores. Some of them use the helpers of the contract suite before it is asked for,
and its assertions are to show their values all the same."""

import pytest

pytest.register_assert_rewrite("tenure.testing.contract")
