// The few functions of libcurl that the client of etcd needs.
//
// They are declared here, and nothing is linked, so a machine without libcurl can build and run the
// package. Tests/Data/Prototypes compiles this file together with the library's own headers, so
// that a different declaration is an error.

#ifndef CLIBCURL_LIBCURL_H
#define CLIBCURL_LIBCURL_H

#include <stddef.h>
#include <stdint.h>

typedef void CURL;
typedef void CURLM;
struct CURLMsg;
struct curl_slist;
struct curl_waitfd;

unsigned int curl_global_init(long flags);
CURL *curl_easy_init(void);
void curl_easy_cleanup(CURL *handle);
void curl_easy_reset(CURL *handle);
unsigned int curl_easy_setopt(CURL *handle, unsigned int option, ...);
unsigned int curl_easy_getinfo(CURL *handle, unsigned int info, ...);
const char *curl_easy_strerror(unsigned int code);
struct curl_slist *curl_slist_append(struct curl_slist *list, const char *text);
void curl_slist_free_all(struct curl_slist *list);
CURLM *curl_multi_init(void);
int curl_multi_setopt(CURLM *multi, unsigned int option, ...);
int curl_multi_add_handle(CURLM *multi, CURL *handle);
int curl_multi_remove_handle(CURLM *multi, CURL *handle);
int curl_multi_perform(CURLM *multi, int *running);
int curl_multi_poll(CURLM *multi, struct curl_waitfd *more, unsigned int count, int milliseconds,
                    int *ready);
int curl_multi_wakeup(CURLM *multi);
struct CURLMsg *curl_multi_info_read(CURLM *multi, int *remaining);
int curl_multi_cleanup(CURLM *multi);

// Constants and layouts; the prototype test compares them, too.
enum {
  CLIBCURL_GLOBAL_DEFAULT = 3,
  CLIBCURL_OPENSSL_NO_ATEXIT = 0x00080000,
  CLIBCURL_ERROR_SIZE = 256,
  CLIBCURL_MESSAGE_DONE = 1,
  CLIBCURL_HTTP_1_1 = 2,
  CLIBCURL_TLS_1_2 = 6,
  CLIBCURL_TLS_AT_MOST_1_2 = 6 << 16,
  CLIBCURL_PROTOCOL_HTTP = 1 << 0,
  CLIBCURL_PROTOCOL_HTTPS = 1 << 1,
  CLIBCURL_SEEK_FAILED = 2,

  // Results
  CLIBCURL_OK = 0,
  CLIBCURL_NO_SUCH_PROXY = 5,
  CLIBCURL_NO_SUCH_HOST = 6,
  CLIBCURL_CANNOT_CONNECT = 7,
  CLIBCURL_WRITE_FAILED = 23,
  CLIBCURL_TIMED_OUT = 28,
  CLIBCURL_TLS_FAILED = 35,
  CLIBCURL_UNKNOWN_OPTION = 48,
  CLIBCURL_NO_ANSWER = 52,
  CLIBCURL_SENDING_FAILED = 55,
  CLIBCURL_RECEIVING_FAILED = 56,
  CLIBCURL_BAD_CLIENT_CERTIFICATE = 58,
  CLIBCURL_BAD_PEER = 60,
  CLIBCURL_BAD_AUTHORITIES = 77,
  CLIBCURL_BAD_ISSUER = 83,

  // Options of a transfer
  CLIBCURL_ERROR_BUFFER = 10010,
  CLIBCURL_URL = 10002,
  CLIBCURL_PROXY = 10004,
  CLIBCURL_NO_PROXY = 10177,
  CLIBCURL_HEADERS = 10023,
  CLIBCURL_USER_AGENT = 10018,
  CLIBCURL_POST = 47,
  CLIBCURL_POST_SIZE = 30120,
  CLIBCURL_READ_DATA = 10009,
  CLIBCURL_READ_FUNCTION = 20012,
  CLIBCURL_SEEK_FUNCTION = 20167,
  CLIBCURL_WRITE_DATA = 10001,
  CLIBCURL_WRITE_FUNCTION = 20011,
  CLIBCURL_NO_SIGNAL = 99,
  CLIBCURL_FOLLOW_LOCATION = 52,
  CLIBCURL_HTTP_VERSION = 84,
  CLIBCURL_PROTOCOLS = 181,
  CLIBCURL_PROTOCOLS_TEXT = 10318,
  CLIBCURL_CONNECT_TIMEOUT = 156,
  CLIBCURL_CONNECT_ONLY = 141,
  CLIBCURL_KEEPALIVE = 213,
  CLIBCURL_KEEPALIVE_IDLE = 214,
  CLIBCURL_KEEPALIVE_INTERVAL = 215,
  CLIBCURL_QUICK_EXIT = 322,
  CLIBCURL_TLS_VERSION = 32,
  CLIBCURL_VERIFY_PEER = 64,
  CLIBCURL_VERIFY_HOST = 81,
  CLIBCURL_AUTHORITY_FILE = 10065,
  CLIBCURL_AUTHORITY_FOLDER = 10097,
  CLIBCURL_CERTIFICATE = 10025,
  CLIBCURL_KEY = 10087,
  CLIBCURL_KEY_PASSWORD = 10026,

  // Options of a set of transfers
  CLIBCURL_MULTI_CONNECTIONS = 6,

  // What is known of a transfer
  CLIBCURL_INFO_STATUS = 0x200002,
};

struct clibcurl_message {
  unsigned int kind;
  CURL *handle;
  union {
    void *other;
    unsigned int result;
  } data;
};

struct clibcurl_list {
  char *text;
  struct clibcurl_list *next;
};

#endif
