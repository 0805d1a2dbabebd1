// Empty does nothing. It shows the costs of every Go program.
package main

func main() {}
