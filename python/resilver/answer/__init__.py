"""Answers: what every command says, and the one way in which a terminal, a page or a file says it.

A command makes an `Answer` of what it found and prints nothing itself.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
