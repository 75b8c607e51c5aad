#ifndef CPREPHIRENCESGLIBC_H
#define CPREPHIRENCESGLIBC_H

// What the program takes from itself, so that it starts with glibc 2.34, whatever glibc it is built
// with. Nothing else sees these functions, neither libraries that the program loads, nor Swift.
//
// - `arc4random`, in glibc since 2.36; the C++ library of the Swift runtime refers to it
// - `hypotf`, in glibc since 2.35 in another version; Foundation refers to it
// - `_dl_find_object`, in glibc since 2.35; GCC's unwinder refers to it

#endif
