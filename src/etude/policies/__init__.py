"""Policies that come with etude."""
