/**
 * The address of servers that go down in a test. A port they let go is taken by another server on the same address
 * sooner or later, so they have an address that no other server listens on, where the system has one.
 */
export const ownAddress = process.platform === 'linux' ? '127.0.0.2' : '127.0.0.1';
