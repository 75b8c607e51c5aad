/// All values of a domain that can be read, and why the others cannot.
struct DomainContents {
  var values: [(key: String, value: StoredValue)] = []
  var unreadable: [(key: String, failure: any Error)] = []
}
