"""The learned detector: a small model that ships with Tenure and runs offline."""
