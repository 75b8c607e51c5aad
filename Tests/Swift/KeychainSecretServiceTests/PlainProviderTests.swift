import Foundation
import KeychainCredentials
import KeychainSecrets
import Testing

@testable import KeychainSecretService

@Suite("A provider without encryption", .timeLimit(.minutes(10)))
struct PlainProviderTests {
  /// A Secret Service with one collection, one item, and only the algorithm `plain`; it prints what
  /// it receives.
  private static let program = """
    from gi.repository import Gio, GLib
    V = GLib.Variant
    def interface(name, methods):
        return f'<interface name="org.freedesktop.Secret.{name}">{methods}</interface>'
    def method(name, given, result):
        return f'<method name="{name}"><arg type="{given}"/>' + ''.join(
            f'<arg type="{one}" direction="out"/>' for one in result) + '</method>'
    service = interface('Service', '<method name="OpenSession"><arg type="s"/><arg type="v"/>'
        '<arg type="v" direction="out"/><arg type="o" direction="out"/></method>')
    collection = interface('Collection', method('SearchItems', 'a{ss}', ['ao'])
        + '<method name="CreateItem"><arg type="a{sv}"/><arg type="(oayays)"/><arg type="b"/>'
        '<arg type="o" direction="out"/><arg type="o" direction="out"/></method>'
        '<property name="Locked" type="b" access="read"/>'
        '<property name="Items" type="ao" access="read"/>')
    item = interface('Item', method('GetSecret', 'o', ['(oayays)'])
        + '<property name="Attributes" type="a{ss}" access="read"/>'
        '<property name="Label" type="s" access="read"/>')
    root = '/org/freedesktop/secrets'
    values = {'Locked': V('b', False), 'Label': V('s', 'x'),
              'Items': V('ao', [root + '/item/1']),
              'Attributes': V('a{ss}', {'service': 'test', 'username': 'a'})}
    def call(bus, sender, path, interface, method, given, invocation):
        if method == 'OpenSession':
            if given[0] != 'plain':
                return invocation.return_dbus_error('org.freedesktop.DBus.Error.NotSupported', 'no')
            return invocation.return_value(V('(vo)', (V('s', ''), root + '/session/1')))
        if method == 'SearchItems':
            return invocation.return_value(V('(ao)', ([root + '/item/1'],)))
        print('SECRET', method, flush=True)
        if method == 'GetSecret':
            return invocation.return_value(
                V('((oayays))', ((root + '/session/1', b'', b'open', 'text/plain'),)))
        invocation.return_value(V('(oo)', (root + '/item/1', '/')))
    def get(bus, sender, path, interface, name): return values[name]
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    for path, xml in ((root, service), (root + '/aliases/default', collection),
                      (root + '/item/1', item)):
        node = Gio.DBusNodeInfo.new_for_xml('<node>' + xml + '</node>')
        bus.register_object(path, node.interfaces[0], call, get, None)
    Gio.bus_own_name_on_connection(bus, 'org.freedesktop.secrets', 0,
        lambda *_: print('READY', flush=True), None)
    GLib.MainLoop().run()
    """

  @Test func getsNoSecretAndNoRequest() throws {
    let desktop = try Desktop(.none)
    let provider = try Child(["/usr/bin/python3", "-I", "-c", Self.program], desktop.environment)
    provider.finishInput()
    var isRunning = true
    defer { if isRunning { provider.end() } }
    try #require(!provider.read(until: "READY\n").isEmpty)
    let store = desktop.store()
    // Searching works, because it transfers no secret.
    #expect(try store.search(CredentialQuery()).credentials.isEmpty == false)
    expect(.refused) { _ = try store.text("a") }
    expect(.refused) { try store.put("b", "never in clear") }
    provider.end()
    isRunning = false
    #expect(String(decoding: provider.read(), as: UTF8.self).isEmpty)
  }
}
