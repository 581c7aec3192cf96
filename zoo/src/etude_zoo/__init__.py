"""Trained policies: NAME.onnx holds the weights, NAME.json the card."""
