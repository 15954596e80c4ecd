"""How likely data is lost: exact where it can be, simulated where it must be."""
