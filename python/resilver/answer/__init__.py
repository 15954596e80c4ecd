"""Answers: what every command says, and how a terminal, a page or a file says it."""
