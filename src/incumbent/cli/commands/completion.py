"""The command that teaches a shell our commands: completion."""

from __future__ import annotations

import typer

from incumbent.cli.completion import SCRIPTS, places
from incumbent.cli.declaring import argument, command
from incumbent.model.errors import InvalidInput


@command(
    "completion bash > ~/.local/share/bash-completion/completions/incumbent",
    "completion zsh > ~/.zfunc/_incumbent",
    "completion fish > ~/.config/fish/completions/incumbent.fish",
)
def completion(
    shell: str = argument("SHELL", "bash, zsh or fish."),
) -> None:
    """Print what makes a shell complete commands and options.

    Keep it where your shell looks for it; the examples are for bash, for zsh and for fish. Do so
    again after an upgrade. Or have it made whenever a shell starts: put the line
    eval "$(incumbent completion bash)" into ~/.bashrc, or the same with zsh into ~/.zshrc after
    compinit.
    """
    from incumbent.cli.app import app  # which this command is a part of

    if shell not in SCRIPTS:
        raise InvalidInput(f"SHELL {shell!r:.80} is not one of {', '.join(SCRIPTS)}")
    typer.echo(SCRIPTS[shell](list(places(typer.main.get_command(app)))))
