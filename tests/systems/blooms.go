// blooms.go - Go's bits-and-blooms: makes a filter for 2000 keys at 1 % of the
// lines of standard input, or says how many of them may be in one.
//
//	blooms make FILTER    blooms count FILTER
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/bits-and-blooms/bloom"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func main() {
	filter := bloom.NewWithEstimates(2000, 0.01)
	lines := bufio.NewScanner(os.Stdin)
	if os.Args[1] == "make" {
		for lines.Scan() {
			filter.Add(lines.Bytes())
		}
		file, err := os.Create(os.Args[2])
		check(err)
		_, err = filter.WriteTo(file)
		check(err)
		check(file.Close())
		return
	}
	file, err := os.Open(os.Args[2])
	check(err)
	_, err = filter.ReadFrom(bufio.NewReader(file))
	check(err)
	found := 0
	for lines.Scan() {
		if filter.Test(lines.Bytes()) {
			found++
		}
	}
	fmt.Println(found)
}
