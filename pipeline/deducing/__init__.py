"""Deduction: problems made, solvers asked, values read, consistency measured."""
