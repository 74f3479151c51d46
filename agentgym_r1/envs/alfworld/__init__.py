"""ALFWorld's household games: a compiled engine that says what TextWorld says, and TextWorld itself."""
