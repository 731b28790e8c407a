/* setjmp.h - WebAssembly has none; see cmocka.h. */
