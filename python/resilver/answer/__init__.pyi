"""The public names of `resilver.answer` and where each is from."""

from .model import (
    Answer as Answer,
    Case as Case,
    Figures as Figures,
    Form as Form,
    KeyFigure as KeyFigure,
    Lines as Lines,
    Part as Part,
    Section as Section,
    Shown as Shown,
    sections_of as sections_of,
)
from .page import render as render, write as write
from .page import write_files as write_files
