"""Where PyTorch computes."""

from __future__ import annotations

from tapete.core.errors import TapeteError
from tapete.learn.late import torch

CPU = "cpu"


def check_device(name: str) -> None:
    """Raises where PyTorch can't compute on that device; asking for the processor does not import it."""
    if name == CPU:
        return
    try:
        zeros = torch.zeros
    except ImportError:
        raise TapeteError(f"the device {name!r} needs PyTorch: pip install 'tapete[learn]'") from None
    try:
        zeros(1, device=name).cpu()
    except (RuntimeError, AssertionError, ValueError, ImportError):  # which of them depends on the device
        raise TapeteError(f"PyTorch has no device {name!r} here; it has {', '.join(_devices())}") from None


def _devices() -> list[str]:
    """The devices that there are."""
    accelerator = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    return [CPU, *([accelerator.type] if accelerator else [])]
