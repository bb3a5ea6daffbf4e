"""What a portfolio is made of: cheap, different ways to learn from vectors, and the choice among them."""
