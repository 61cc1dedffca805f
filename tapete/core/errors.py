"""What goes wrong at the edge, where people and files come in."""


class TapeteError(ValueError):
    """Wrong input: a name, a parameter, a file, a move. The message is one line: what is wrong, what would be right."""

    def __str__(self) -> str:
        return " ".join(super().__str__().split())  # whatever a file or a name brings into it


class IllegalAction(TapeteError):
    """An action that the rules don't allow in this state. The state is as it was."""
