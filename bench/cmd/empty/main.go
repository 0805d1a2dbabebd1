// Empty does nothing: what it takes is what any Go program takes.
package main

func main() {}
