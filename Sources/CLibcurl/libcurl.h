// The few functions of libcurl that the client of etcd needs.

#ifndef CLIBCURL_LIBCURL_H
#define CLIBCURL_LIBCURL_H

typedef void CURL;

#endif
