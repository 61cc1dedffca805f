"""`tapete shipped`: the networks and equilibria that come with the package."""

from __future__ import annotations

import json
from dataclasses import asdict

from tapete.cli.app import Json, app


@app.command()
def shipped(as_json: Json = False) -> None:
    """List the networks and equilibria that ship: what made them, and how strong they are."""
    from tapete.shipped import find, manifest

    if as_json:
        print(json.dumps({name: asdict(artefact) for name, artefact in manifest().items()}, indent=2))
        return
    for name, artefact in manifest().items():
        find(name)  # which says so if it is not the file that was made
        print(f"{name}, {artefact.bytes:,} bytes")
        for key, value in asdict(artefact).items():
            if isinstance(value, str) and value and key != "sha256":
                print(f"    {key.replace('_', ' '):12} {value}")
        if artefact.config:
            print(
                f"    {'config':12} {' '.join(f'{knob}={_written(value)}' for knob, value in artefact.config.items())}"
            )


def _written(value: object) -> str:
    """A value as `tapete train` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
