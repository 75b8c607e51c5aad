// Finds the functions of libsecret.h in the libraries of the machine, at run time.

#ifndef CLIBSECRET_LOADING_H
#define CLIBSECRET_LOADING_H

#include "libsecret.h"

#include <dlfcn.h>

// Every function, once: F(name).
#define CLIBSECRET_FUNCTIONS(F)                                                              \
  F(g_error_free)                                                                            \
  F(g_free)                                                                                  \
  F(g_main_context_new)                                                                      \
  F(g_main_context_unref)                                                                    \
  F(g_main_context_push_thread_default)                                                      \
  F(g_main_context_pop_thread_default)                                                       \
  F(g_main_context_iteration)                                                                \
  F(g_main_context_wakeup)                                                                   \
  F(g_timeout_source_new)                                                                    \
  F(g_source_set_callback)                                                                   \
  F(g_source_attach)                                                                         \
  F(g_source_destroy)                                                                        \
  F(g_source_unref)                                                                          \
  F(g_variant_type_new)                                                                      \
  F(g_variant_type_free)                                                                     \
  F(g_variant_new_array)                                                                     \
  F(g_variant_new_boolean)                                                                   \
  F(g_variant_new_dict_entry)                                                                \
  F(g_variant_new_object_path)                                                               \
  F(g_variant_new_string)                                                                    \
  F(g_variant_new_tuple)                                                                     \
  F(g_variant_new_uint32)                                                                    \
  F(g_variant_new_variant)                                                                   \
  F(g_variant_ref)                                                                           \
  F(g_variant_take_ref)                                                                      \
  F(g_variant_unref)                                                                         \
  F(g_variant_get_type_string)                                                               \
  F(g_variant_n_children)                                                                    \
  F(g_variant_get_child_value)                                                               \
  F(g_variant_get_boolean)                                                                   \
  F(g_variant_get_fixed_array)                                                               \
  F(g_variant_get_string)                                                                    \
  F(g_variant_get_uint32)                                                                    \
  F(g_variant_get_uint64)                                                                    \
  F(g_variant_get_variant)                                                                   \
  F(g_object_set)                                                                            \
  F(g_object_unref)                                                                          \
  F(g_type_query)                                                                            \
  F(g_type_register_static_simple)                                                           \
  F(g_io_error_quark)                                                                        \
  F(g_socket_new_from_fd)                                                                    \
  F(g_socket_connection_factory_create_connection)                                           \
  F(g_dbus_connection_new_sync)                                                              \
  F(g_dbus_connection_call)                                                                  \
  F(g_dbus_connection_call_finish)                                                           \
  F(g_dbus_connection_is_closed)                                                             \
  F(g_dbus_connection_add_filter)                                                            \
  F(g_dbus_connection_remove_filter)                                                         \
  F(g_dbus_message_copy)                                                                     \
  F(g_dbus_message_get_body)                                                                 \
  F(g_dbus_message_get_member)                                                               \
  F(g_dbus_message_get_message_type)                                                         \
  F(g_dbus_message_get_reply_serial)                                                         \
  F(g_dbus_message_get_serial)                                                               \
  F(g_dbus_message_set_body)                                                                 \
  F(g_dbus_message_set_error_name)                                                           \
  F(g_dbus_message_set_message_type)                                                         \
  F(g_dbus_connection_signal_subscribe)                                                      \
  F(g_dbus_connection_signal_unsubscribe)                                                    \
  F(g_dbus_error_get_remote_error)                                                           \
  F(g_initable_new)                                                                          \
  F(secret_service_get_type)                                                                 \
  F(secret_service_ensure_session_sync)                                                      \
  F(secret_service_get_session_algorithms)                                                   \
  F(secret_service_get_session_dbus_path)                                                    \
  F(secret_service_encode_dbus_secret)                                                       \
  F(secret_service_decode_dbus_secret)                                                       \
  F(secret_value_new)                                                                        \
  F(secret_value_get)                                                                        \
  F(secret_value_unref)

// The functions that were found; each has the type of its declaration. The table is filled once and
// never changed.
#define CLIBSECRET_MEMBER(name) __typeof__(name) *name;
#ifdef __swift__
struct __attribute__((swift_attr("@Sendable"))) clibsecret {
#else
struct clibsecret {
#endif
  CLIBSECRET_FUNCTIONS(CLIBSECRET_MEMBER)
};
#undef CLIBSECRET_MEMBER

// Loads libsecret and, through it, GLib. The library stays loaded. Returns NULL on success,
// otherwise what is missing: the library, or the name of a function in it. Binding is lazy because
// GLib's libraries call each other by thousands of names, of which a command needs few.
static inline const char *clibsecret_load(struct clibsecret *functions, const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == NULL) return library;
#define CLIBSECRET_FIND(name)                                                                \
  *(void **)&functions->name = dlsym(handle, #name);                                         \
  if (functions->name == NULL) return #name;
  CLIBSECRET_FUNCTIONS(CLIBSECRET_FIND)
#undef CLIBSECRET_FIND
  return NULL;
}

static inline uint32_t clibsecret_error_domain(const GError *error) {
  return ((const struct clibsecret_error *)error)->domain;
}

static inline int clibsecret_error_code(const GError *error) {
  return ((const struct clibsecret_error *)error)->code;
}

#endif
