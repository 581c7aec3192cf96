"""The checks behind :mod:`etude.datasets.validate`, one module for each part of a dataset."""
