"""Plots of a report as inline SVG, drawn with matplotlib's object interface."""
