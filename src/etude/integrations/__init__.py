"""Etude inside of other harnesses: each module needs the package it is named after."""
