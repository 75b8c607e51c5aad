// Typed functions over the variadic ones of libcurl, which Swift does not import, and the callbacks
// of a transfer.

#ifndef CLIBCURL_TRANSFER_H
#define CLIBCURL_TRANSFER_H

#include "loading.h"

#include <stdlib.h>
#include <string.h>

static inline unsigned int clibcurl_set_number(const struct clibcurl *functions, CURL *handle,
                                               unsigned int option, long value) {
  return functions->curl_easy_setopt(handle, option, value);
}

// libcurl copies the text; NULL takes the option back.
static inline unsigned int clibcurl_set_text(const struct clibcurl *functions, CURL *handle,
                                             unsigned int option, const char *text) {
  return functions->curl_easy_setopt(handle, option, text);
}

// libcurl keeps the address.
static inline unsigned int clibcurl_set_address(const struct clibcurl *functions, CURL *handle,
                                                unsigned int option, void *address) {
  return functions->curl_easy_setopt(handle, option, address);
}

static inline int clibcurl_limit_connections(const struct clibcurl *functions, CURLM *multi,
                                             long count) {
  return functions->curl_multi_setopt(multi, CLIBCURL_MULTI_CONNECTIONS, count);
}

// The HTTP status, or 0 if there was no answer.
static inline long clibcurl_status(const struct clibcurl *functions, CURL *handle) {
  long status = 0;
  if (functions->curl_easy_getinfo(handle, CLIBCURL_INFO_STATUS, &status) != CLIBCURL_OK) return 0;
  return status;
}

// Whether the only transfer of a set has ended, and its result.
static inline int clibcurl_ended(const struct clibcurl *functions, CURLM *multi,
                                 unsigned int *result) {
  int remaining = 0;
  const struct clibcurl_message *message;
  while ((message = (const struct clibcurl_message *)functions->curl_multi_info_read(
              multi, &remaining)) != NULL) {
    if (message->kind != CLIBCURL_MESSAGE_DONE) continue;
    *result = message->data.result;
    return 1;
  }
  return 0;
}

// Frees a list of headers, of which one may be a token.
static inline void clibcurl_free_list(const struct clibcurl *functions, struct curl_slist *list) {
  for (struct clibcurl_list *item = (struct clibcurl_list *)list; item != NULL; item = item->next)
    explicit_bzero(item->text, strlen(item->text));
  functions->curl_slist_free_all(list);
}

// The body of a request. libcurl must not send it a second time by itself, as it would do if a kept
// connection ends: whether the first was performed would not be known.
struct clibcurl_body {
  const unsigned char *bytes;
  size_t count;
  size_t sent;
};

static inline size_t clibcurl_read_body(char *target, size_t size, size_t count, void *context) {
  struct clibcurl_body *body = context;
  size_t chunk = size * count;
  if (chunk > body->count - body->sent) chunk = body->count - body->sent;
  if (chunk > 0) memcpy(target, body->bytes + body->sent, chunk);
  body->sent += chunk;
  return chunk;
}

static inline int clibcurl_refuse_seek(void *context, int64_t offset, int origin) {
  (void)context;
  (void)offset;
  (void)origin;
  return CLIBCURL_SEEK_FAILED;
}

static inline unsigned int clibcurl_set_body(const struct clibcurl *functions, CURL *handle,
                                             struct clibcurl_body *body) {
  unsigned int result;
  if ((result = functions->curl_easy_setopt(handle, CLIBCURL_POST, 1L)) != CLIBCURL_OK ||
      (result = functions->curl_easy_setopt(handle, CLIBCURL_POST_SIZE, (int64_t)body->count)) !=
          CLIBCURL_OK ||
      (result = functions->curl_easy_setopt(handle, CLIBCURL_READ_DATA, (void *)body)) !=
          CLIBCURL_OK ||
      (result = functions->curl_easy_setopt(handle, CLIBCURL_READ_FUNCTION, clibcurl_read_body)) !=
          CLIBCURL_OK)
    return result;
  return functions->curl_easy_setopt(handle, CLIBCURL_SEEK_FUNCTION, clibcurl_refuse_seek);
}

// What has arrived of an answer.
struct clibcurl_answer {
  unsigned char *bytes;
  size_t count;
  size_t capacity;
  size_t limit;
  // The answer was larger than the limit.
  int is_too_large;
};

// Forgets the bytes, which may be secret.
static inline void clibcurl_clear_answer(struct clibcurl_answer *answer) {
  if (answer->bytes != NULL) {
    explicit_bzero(answer->bytes, answer->count);
    free(answer->bytes);
  }
  answer->bytes = NULL;
  answer->count = 0;
  answer->capacity = 0;
  answer->is_too_large = 0;
}

static inline size_t clibcurl_write_answer(char *source, size_t size, size_t count, void *context) {
  struct clibcurl_answer *answer = context;
  const size_t chunk = size * count;
  if (chunk == 0) return 0;
  if (chunk > answer->limit - answer->count) {
    answer->is_too_large = 1;
    return 0;
  }
  if (chunk > answer->capacity - answer->count) {
    const size_t capacity = (answer->count + chunk) * 2;
    unsigned char *bytes = malloc(capacity);
    if (bytes == NULL) return 0;
    if (answer->bytes != NULL) {
      memcpy(bytes, answer->bytes, answer->count);
      explicit_bzero(answer->bytes, answer->count);
      free(answer->bytes);
    }
    answer->bytes = bytes;
    answer->capacity = capacity;
  }
  memcpy(answer->bytes + answer->count, source, chunk);
  answer->count += chunk;
  return chunk;
}

static inline unsigned int clibcurl_set_answer(const struct clibcurl *functions, CURL *handle,
                                               struct clibcurl_answer *answer) {
  const unsigned int result =
      functions->curl_easy_setopt(handle, CLIBCURL_WRITE_DATA, (void *)answer);
  if (result != CLIBCURL_OK) return result;
  return functions->curl_easy_setopt(handle, CLIBCURL_WRITE_FUNCTION, clibcurl_write_answer);
}

#endif
