"""How the shipped weights came to be: documents, network, optimizer and schedule. Needs the extra `torch`."""
