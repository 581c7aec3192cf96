"""Gymnasium environments and what they are made of."""
