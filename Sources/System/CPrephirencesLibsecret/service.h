// libsecret's object for the Secret Service, over a connection that we made.
//
// libsecret only knows the session bus that GIO finds by itself: without a deadline, with an
// autolaunched bus if need be, and once for the whole process. Its constructor sets this after all
// properties that a caller gives, so a subclass with a constructor of its own must have the last
// word. All of it is C because the functions are variadic, which Swift does not import. One Swift
// file alone may use this header: each that did would have variables of its own.

#ifndef CLIBSECRET_SERVICE_H
#define CLIBSECRET_SERVICE_H

#include "loading.h"

// What the class needs, and the properties of the object that this thread is about to create.
struct clibsecret_service_class {
  const struct clibsecret *functions;
  clibsecret_constructor parent_constructor;
};

struct clibsecret_service_properties {
  GDBusConnection *connection;
  const char *owner;
  int timeout;
};

// Swift emits variables of a header only if they are inside a function.
static inline struct clibsecret_service_class *clibsecret_service_class(void) {
  static struct clibsecret_service_class class;
  return &class;
}

static inline struct clibsecret_service_properties *clibsecret_service_next(void) {
  static _Thread_local struct clibsecret_service_properties next;
  return &next;
}

static inline GObject *clibsecret_service_constructor(size_t type, unsigned int count,
                                                      GObjectConstructParam *properties) {
  const struct clibsecret_service_class *class = clibsecret_service_class();
  const struct clibsecret_service_properties *next = clibsecret_service_next();
  const unsigned int flags = CLIBSECRET_PROXY_DO_NOT_LOAD_PROPERTIES |
                             CLIBSECRET_PROXY_DO_NOT_CONNECT_SIGNALS |
                             CLIBSECRET_PROXY_DO_NOT_AUTO_START;
  GObject *object = class->parent_constructor(type, count, properties);
  class->functions->g_object_set(object, "g-bus-type", CLIBSECRET_BUS_TYPE_NONE, "g-connection",
                                 next->connection, "g-name", next->owner, "g-flags", flags,
                                 "g-default-timeout", next->timeout, NULL);
  return object;
}

static inline void clibsecret_service_class_init(void *class, void *data) {
  struct clibsecret_object_class *object_class = class;
  (void)data;
  clibsecret_service_class()->parent_constructor = object_class->constructor;
  object_class->constructor = clibsecret_service_constructor;
}

// Creates the subclass, once per process. Returns 0 on failure.
static inline size_t clibsecret_service_register(const struct clibsecret *functions) {
  struct clibsecret_type_query parent = {0};
  const size_t type = functions->secret_service_get_type();
  clibsecret_service_class()->functions = functions;
  functions->g_type_query(type, (GTypeQuery *)&parent);
  return functions->g_type_register_static_simple(type, "PrephirencesSecretService",
                                                  parent.class_size, clibsecret_service_class_init,
                                                  parent.instance_size, NULL, 0);
}

// Creates an object of the subclass for the service of one owner. Returns NULL and an error on
// failure.
static inline SecretService *clibsecret_service_new(const struct clibsecret *functions, size_t type,
                                                    GDBusConnection *connection, const char *owner,
                                                    int timeout, GError **error) {
  *clibsecret_service_next() =
      (struct clibsecret_service_properties){connection, owner, timeout};
  return (SecretService *)functions->g_initable_new(type, NULL, error, NULL);
}

#endif
