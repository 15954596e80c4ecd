"""A page that computes: a system or a real cluster, what may be changed of it, and the core.

`controls` finds what each choice changes in the core's input, by `patches`.
"""

from __future__ import annotations
