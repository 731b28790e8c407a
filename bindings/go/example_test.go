package bloomery_test

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"bloomery.invalid/bloomery"
	"bloomery.invalid/bloomery/reader"
)

func Example() {
	f, err := bloomery.New("blocked", bloomery.WithItems(1e6), bloomery.WithRate(0.01))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, word := range []string{"swordfish", "sesame"} {
		if _, err := f.Add(word); err != nil {
			log.Fatal(err)
		}
	}
	for _, word := range []string{"sesame", "sardine"} {
		found, err := f.Contains(word)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(word, found)
	}
	// Output:
	// sesame true
	// sardine false
}

func ExampleBuild() {
	users := []int64{1001, 1002, 1003}
	f, err := bloomery.Build("fuse", users, bloomery.WithRate(0.001))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	found, err := f.ContainsMany([]int64{1002, 7})
	fmt.Println(found, err)
	// Output: [true false] <nil>
}

func ExampleFilter_Add() {
	f, err := bloomery.New("standard", bloomery.WithItems(1000))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	for _, page := range []string{"/index", "/about", "/index"} {
		isNew, err := f.Add(page)
		fmt.Println(page, isNew, err)
	}
	// Output:
	// /index true <nil>
	// /about true <nil>
	// /index false <nil>
}

// A key of another class is an error, and never a wrong "no".
func ExampleFilter_Contains_form() {
	f, err := bloomery.Build("standard", []int{7, 8})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	_, err = f.Contains("7")
	fmt.Println(errors.Is(err, bloomery.ErrForm))
	fmt.Println(err)
	// Output:
	// true
	// bloomery: the filter's keys are numbers, and this one is text: give a number
}

func ExampleFilter_WriteTo() {
	f, err := bloomery.Build("blocked", []string{"red", "green"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	var wire bytes.Buffer
	if _, err := f.WriteTo(&wire); err != nil {
		log.Fatal(err)
	}
	var received bloomery.Filter
	defer received.Close()
	if _, err := received.ReadFrom(&wire); err != nil {
		log.Fatal(err)
	}
	fmt.Println(received.Contains("green"))
	// Output: true <nil>
}

func ExampleFilter_Unite() {
	monday, err := bloomery.New("blocked", bloomery.WithItems(1000))
	if err != nil {
		log.Fatal(err)
	}
	defer monday.Close()
	tuesday, err := monday.Like()
	if err != nil {
		log.Fatal(err)
	}
	defer tuesday.Close()
	monday.AddMany([]string{"ann", "bob"})
	tuesday.AddMany([]string{"bob", "eve"})
	if err := monday.Unite(tuesday); err != nil {
		log.Fatal(err)
	}
	fmt.Println(monday.ContainsMany([]string{"ann", "bob", "eve", "mallory"}))
	// Output: [true true true false] <nil>
}

func ExampleFilter_ListKeys() {
	ours, err := bloomery.New("invertible:key=8", bloomery.WithItems(10))
	if err != nil {
		log.Fatal(err)
	}
	defer ours.Close()
	theirs, err := ours.Like()
	if err != nil {
		log.Fatal(err)
	}
	defer theirs.Close()
	ours.AddMany([]string{"a", "b", "c"})
	theirs.AddMany([]string{"b", "c", "d"})
	if err := ours.Subtract(theirs); err != nil {
		log.Fatal(err)
	}
	list, err := ours.ListKeys()
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range list {
		fmt.Printf("%s %+d\n", one.Key, one.Side)
	}
	// Unordered output:
	// a +1
	// d -1
}

func ExampleAdvise() {
	ranked, err := bloomery.Advise(bloomery.Need{
		Items: 1e6, Rate: 0.001, Can: []string{"remove"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(ranked[0].Kind)
	// Output: cuckoo
}

func ExamplePlan() {
	plan, err := bloomery.Plan("fuse", bloomery.WithItems(1e6), bloomery.WithRate(1./256))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.1f bits per key\n", plan.BitsPerKey)
	// Output: 9.0 bits per key
}

// A program without cgo reads the same file.
func Example_reader() {
	folder, err := os.MkdirTemp("", "bloomery")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "words.bly")
	f, err := bloomery.Build("fuse", []string{"swordfish", "sesame"})
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	if err := f.Save(path); err != nil {
		log.Fatal(err)
	}
	words, err := reader.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(words.Contains("sesame"))
	// Output: true <nil>
}
