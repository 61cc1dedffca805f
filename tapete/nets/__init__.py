"""Networks without PyTorch: described as data, trained by PyTorch, run by compiled code.

`Network.load(path).evaluator(game)` puts one into a search; `tapete.nets.torch` trains one; `tapete.nets.zoo` has the
architectures that this package uses.
"""

from tapete.nets.architecture import Architecture, Layer
from tapete.nets.network import Network

__all__ = ["Architecture", "Layer", "Network"]
