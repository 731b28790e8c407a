/* first.cpp - first.c in C++: makes a filter, adds, queries, saves, opens.
 *
 *      c++ -std=c++17 first.cpp $(pkg-config --cflags --libs bloomery)
 */
#include <bloomery.hpp>

#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

int main()
try {
    const std::vector<std::string> words = { "swordfish", "open sesame",
                                             "xyzzy" };
    bloomery::filter made("standard", bloomery::spec(1000, 0.01));

    made.add_many(words);
    std::cout << "xyzzy is "
              << (made.add("xyzzy") ? "new" : "perhaps there already")
              << '\n';
    made.save("passwords.bly");

    auto f = bloomery::filter::open("passwords.bly", BLY_MAP);
    for (const std::string &word : words)
        if (!f.contains(word))
            return 1;
    std::cout << "xyzzy: "
              << (f.contains("xyzzy") ? "perhaps there" : "certainly not")
              << ", plugh: "
              << (f.contains("plugh") ? "perhaps there" : "certainly not")
              << "; " << f.info().items << " adds in " << f.image().size()
              << " bytes\n";
    std::remove("passwords.bly");
    return 0;
} catch (const std::exception &e) {
    std::cerr << "first: " << e.what() << '\n';
    return 1;
}
