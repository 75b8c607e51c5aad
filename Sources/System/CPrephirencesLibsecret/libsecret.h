// The few functions of libsecret, GLib, GObject and GIO that the desktop keyring needs.
//
// They are declared here, and nothing is linked, so a machine without libsecret can build and run
// the package. Tests/Data/Prototypes compiles this file together with the libraries' own headers,
// so that a different declaration is an error.

#ifndef CLIBSECRET_LIBSECRET_H
#define CLIBSECRET_LIBSECRET_H

#include <stddef.h>
#include <stdint.h>

typedef struct _GAsyncResult GAsyncResult;
typedef struct _GCancellable GCancellable;
typedef struct _GDBusAuthObserver GDBusAuthObserver;
typedef struct _GDBusConnection GDBusConnection;
typedef struct _GDBusMessage GDBusMessage;
typedef struct _GError GError;
typedef struct _GIOStream GIOStream;
typedef struct _GMainContext GMainContext;
typedef struct _GObject GObject;
typedef struct _GObjectConstructParam GObjectConstructParam;
typedef struct _GSocket GSocket;
typedef struct _GSocketConnection GSocketConnection;
typedef struct _GSource GSource;
typedef struct _GTypeQuery GTypeQuery;
typedef struct _GVariant GVariant;
typedef struct _GVariantType GVariantType;
typedef struct _SecretService SecretService;
typedef struct _SecretValue SecretValue;

typedef void (*GAsyncReadyCallback)(GObject *source, GAsyncResult *result, void *data);
typedef void (*GDBusSignalCallback)(GDBusConnection *connection, const char *sender,
                                    const char *path, const char *interface, const char *signal,
                                    GVariant *parameters, void *data);
typedef GDBusMessage *(*GDBusMessageFilterFunction)(GDBusConnection *connection,
                                                    GDBusMessage *message, int incoming,
                                                    void *data);
typedef int (*GSourceFunc)(void *data);
typedef void (*GDestroyNotify)(void *data);
typedef void (*GClassInitFunc)(void *class, void *data);

typedef struct _GTypeInstance GTypeInstance;
typedef void (*GInstanceInitFunc)(GTypeInstance *instance, void *class);

// GLib
void g_error_free(GError *error);
void g_free(void *memory);
GMainContext *g_main_context_new(void);
void g_main_context_unref(GMainContext *context);
void g_main_context_push_thread_default(GMainContext *context);
void g_main_context_pop_thread_default(GMainContext *context);
int g_main_context_iteration(GMainContext *context, int may_block);
void g_main_context_wakeup(GMainContext *context);
GSource *g_timeout_source_new(unsigned int milliseconds);
void g_source_set_callback(GSource *source, GSourceFunc function, void *data,
                           GDestroyNotify notify);
unsigned int g_source_attach(GSource *source, GMainContext *context);
void g_source_destroy(GSource *source);
void g_source_unref(GSource *source);
GVariantType *g_variant_type_new(const char *type);
void g_variant_type_free(GVariantType *type);
GVariant *g_variant_new_array(const GVariantType *element, GVariant *const *children,
                              size_t count);
GVariant *g_variant_new_boolean(int value);
GVariant *g_variant_new_dict_entry(GVariant *key, GVariant *value);
GVariant *g_variant_new_object_path(const char *path);
GVariant *g_variant_new_string(const char *text);
GVariant *g_variant_new_tuple(GVariant *const *children, size_t count);
GVariant *g_variant_new_uint32(uint32_t value);
GVariant *g_variant_new_variant(GVariant *value);
GVariant *g_variant_ref(GVariant *variant);
GVariant *g_variant_take_ref(GVariant *variant);
void g_variant_unref(GVariant *variant);
const char *g_variant_get_type_string(GVariant *variant);
size_t g_variant_n_children(GVariant *variant);
GVariant *g_variant_get_child_value(GVariant *variant, size_t index);
int g_variant_get_boolean(GVariant *variant);
const void *g_variant_get_fixed_array(GVariant *variant, size_t *count, size_t element_size);
const char *g_variant_get_string(GVariant *variant, size_t *count);
uint32_t g_variant_get_uint32(GVariant *variant);
uint64_t g_variant_get_uint64(GVariant *variant);
GVariant *g_variant_get_variant(GVariant *variant);

// GObject
void g_object_set(void *object, const char *first_property, ...);
void g_object_unref(void *object);
void g_type_query(size_t type, GTypeQuery *query);
size_t g_type_register_static_simple(size_t parent, const char *name, unsigned int class_size,
                                     GClassInitFunc class_init, unsigned int instance_size,
                                     GInstanceInitFunc instance_init, unsigned int flags);

// GIO
unsigned int g_io_error_quark(void);
GSocket *g_socket_new_from_fd(int descriptor, GError **error);
GSocketConnection *g_socket_connection_factory_create_connection(GSocket *socket);
GDBusConnection *g_dbus_connection_new_sync(GIOStream *stream, const char *guid,
                                            unsigned int flags, GDBusAuthObserver *observer,
                                            GCancellable *cancellable, GError **error);
void g_dbus_connection_call(GDBusConnection *connection, const char *name, const char *path,
                            const char *interface, const char *method, GVariant *parameters,
                            const GVariantType *reply, unsigned int flags, int timeout,
                            GCancellable *cancellable, GAsyncReadyCallback callback, void *data);
GVariant *g_dbus_connection_call_finish(GDBusConnection *connection, GAsyncResult *result,
                                        GError **error);
int g_dbus_connection_is_closed(GDBusConnection *connection);
unsigned int g_dbus_connection_add_filter(GDBusConnection *connection,
                                          GDBusMessageFilterFunction filter, void *data,
                                          GDestroyNotify free_data);
void g_dbus_connection_remove_filter(GDBusConnection *connection, unsigned int id);
GDBusMessage *g_dbus_message_copy(GDBusMessage *message, GError **error);
GVariant *g_dbus_message_get_body(GDBusMessage *message);
const char *g_dbus_message_get_member(GDBusMessage *message);
unsigned int g_dbus_message_get_message_type(GDBusMessage *message);
uint32_t g_dbus_message_get_reply_serial(GDBusMessage *message);
uint32_t g_dbus_message_get_serial(GDBusMessage *message);
void g_dbus_message_set_body(GDBusMessage *message, GVariant *body);
void g_dbus_message_set_error_name(GDBusMessage *message, const char *name);
void g_dbus_message_set_message_type(GDBusMessage *message, unsigned int type);
unsigned int g_dbus_connection_signal_subscribe(GDBusConnection *connection, const char *sender,
                                                const char *interface, const char *member,
                                                const char *path, const char *argument,
                                                unsigned int flags, GDBusSignalCallback callback,
                                                void *data, GDestroyNotify free_data);
void g_dbus_connection_signal_unsubscribe(GDBusConnection *connection, unsigned int id);
char *g_dbus_error_get_remote_error(const GError *error);
void *g_initable_new(size_t type, GCancellable *cancellable, GError **error,
                     const char *first_property, ...);

// libsecret
size_t secret_service_get_type(void);
int secret_service_ensure_session_sync(SecretService *service, GCancellable *cancellable,
                                       GError **error);
const char *secret_service_get_session_algorithms(SecretService *service);
const char *secret_service_get_session_dbus_path(SecretService *service);
GVariant *secret_service_encode_dbus_secret(SecretService *service, SecretValue *value);
SecretValue *secret_service_decode_dbus_secret(SecretService *service, GVariant *value);
SecretValue *secret_value_new(const char *secret, ptrdiff_t count, const char *content_type);
const char *secret_value_get(SecretValue *value, size_t *count);
void secret_value_unref(void *value);

// Constants and layouts; the prototype test compares them, too.
enum {
  CLIBSECRET_BUS_TYPE_NONE = 0,
  CLIBSECRET_AUTHENTICATION_CLIENT = 1 << 0,
  CLIBSECRET_MESSAGE_BUS_CONNECTION = 1 << 3,
  CLIBSECRET_CALL_NO_AUTO_START = 1 << 0,
  CLIBSECRET_MESSAGE_METHOD_CALL = 1,
  CLIBSECRET_MESSAGE_METHOD_RETURN = 2,
  CLIBSECRET_MESSAGE_ERROR = 3,
  CLIBSECRET_PROXY_DO_NOT_LOAD_PROPERTIES = 1 << 0,
  CLIBSECRET_PROXY_DO_NOT_CONNECT_SIGNALS = 1 << 1,
  CLIBSECRET_PROXY_DO_NOT_AUTO_START = 1 << 2,
  CLIBSECRET_ERROR_CLOSED = 18,
  CLIBSECRET_ERROR_TIMED_OUT = 24,
};

struct clibsecret_error {
  uint32_t domain;
  int code;
  char *message;
};

struct clibsecret_type_query {
  size_t type;
  const char *name;
  unsigned int class_size;
  unsigned int instance_size;
};

typedef GObject *(*clibsecret_constructor)(size_t type, unsigned int count,
                                           GObjectConstructParam *properties);

// The beginning of GObjectClass.
struct clibsecret_object_class {
  size_t type;
  void *properties;
  clibsecret_constructor constructor;
};

#endif
