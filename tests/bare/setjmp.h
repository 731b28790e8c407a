/* setjmp.h - empty, as WebAssembly lacks it; see cmocka.h. */
