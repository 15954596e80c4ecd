"""Charts: what they are made of, their colours, and the idioms that all of them follow."""
