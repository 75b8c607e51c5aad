// Finds the functions of libcurl.h in the library of the machine, at run time.

#ifndef CLIBCURL_LOADING_H
#define CLIBCURL_LOADING_H

#include "libcurl.h"

#include <dlfcn.h>

// Every function, once: F(name).
#define CLIBCURL_FUNCTIONS(F)                                                                \
  F(curl_global_init)                                                                        \
  F(curl_easy_init)                                                                          \
  F(curl_easy_cleanup)                                                                       \
  F(curl_easy_reset)                                                                         \
  F(curl_easy_setopt)                                                                        \
  F(curl_easy_getinfo)                                                                       \
  F(curl_easy_strerror)                                                                      \
  F(curl_slist_append)                                                                       \
  F(curl_slist_free_all)                                                                     \
  F(curl_multi_init)                                                                         \
  F(curl_multi_setopt)                                                                       \
  F(curl_multi_add_handle)                                                                   \
  F(curl_multi_remove_handle)                                                                \
  F(curl_multi_perform)                                                                      \
  F(curl_multi_poll)                                                                         \
  F(curl_multi_wakeup)                                                                       \
  F(curl_multi_info_read)                                                                    \
  F(curl_multi_cleanup)

// The functions that were found; each has the type of its declaration. The table is filled once and
// never changed.
#define CLIBCURL_MEMBER(name) __typeof__(name) *name;
#ifdef __swift__
struct __attribute__((swift_attr("@Sendable"))) clibcurl {
#else
struct clibcurl {
#endif
  CLIBCURL_FUNCTIONS(CLIBCURL_MEMBER)
};
#undef CLIBCURL_MEMBER

// Keeps OpenSSL from freeing what it has when the process exits, if libcurl has loaded it and
// nobody has used it before: other threads may be in it then, also while it is initialized. The
// system frees all of it.
static inline void clibcurl_keep_openssl(void *handle) {
  int (*init)(uint64_t, const void *);
  *(void **)&init = dlsym(handle, "OPENSSL_init_crypto");
  if (init != NULL) (void)init(CLIBCURL_OPENSSL_NO_ATEXIT, NULL);
}

// Loads libcurl. The library stays loaded. Returns NULL on success, otherwise what is missing: the
// library, or the name of a function in it.
static inline const char *clibcurl_load(struct clibcurl *functions, const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return library;
#define CLIBCURL_FIND(name)                                                                  \
  *(void **)&functions->name = dlsym(handle, #name);                                         \
  if (functions->name == NULL) return #name;
  CLIBCURL_FUNCTIONS(CLIBCURL_FIND)
#undef CLIBCURL_FIND
  clibcurl_keep_openssl(handle);
  return NULL;
}

#endif
