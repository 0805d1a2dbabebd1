// Empty does nothing. Its cost is the minimum cost of a Go program.
package main

func main() {}
