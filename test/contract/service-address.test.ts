import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLoopback, normalizedAddress, sourceName } from '../../src/contract/service-address.ts';

const SPELLINGS: Readonly<Record<string, readonly string[]>> = {
  'http://localhost': [
    ...['HTTP://LOCALHOST', 'http://localhost:80', 'http://localhost/'],
    ...['http://localhost:80//', 'http://localhost./'],
  ],
  'http://127.0.0.1:8080': [
    'http://127.1:8080',
    'http://0x7f.0.0.1:8080/',
    'http://2130706433:8080',
    'http://127.0.0.1:8080/a/..',
  ],
  'https://api.example.com/hazards': [
    ...['HTTPS://API.Example.COM:443/hazards/', 'https://api.example.com/./x/../hazards///'],
    ...['https://api.example.com/x/%2E%2e/hazards', 'https://api.example.com/h%61z%61rds'],
    ...['https://api.example.com\\hazards', ' https://api.example.com/hazards '],
  ],
  'https://api.example.com/a%2Fb~c': [
    'https://api.example.com/a%2fb%7Ec',
    'https://api.example.com/a%2Fb%7ec/',
  ],
  'http://[::1]:8080': ['http://[0:0:0:0:0:0:0:1]:8080/'],
  'https://xn--bcher-kva.example': ['https://BÜCHER.example/'],
};

for (const [address, spellings] of Object.entries(SPELLINGS)) {
  test(`spellings of ${address} are one address`, () => {
    for (const spelling of [address, ...spellings])
      assert.equal(normalizedAddress(spelling), address, spelling);
  });
}

test('addresses of different services stay different, and text that is no address is unchanged', () => {
  const others = [
    ...['http://a', 'https://a', 'http://a:8080', 'http://a/v'],
    ...['http://a/V', 'http://a//v', 'http://a/%2Fv', 'http://b'],
  ];
  assert.equal(new Set(others.map(normalizedAddress)).size, others.length);
  const unchanged = [
    'embedded 2026-01',
    'harness',
    '',
    'ftp://A/',
    'http://A/?key=1',
    'http://A/#key',
  ];
  for (const text of [...unchanged, 'http://me:secret@A/', 'http://me@A/', 'http://:secret@A/']) {
    assert.equal(normalizedAddress(text), text);
  }
});

test('localhost and 127.0.0.1 are one source; a host whose name begins so is another', () => {
  for (const address of [
    'http://localhost:8080/v',
    'http://LOCALHOST.:8080/v/',
    'http://127.1:8080/v',
  ]) {
    assert.equal(sourceName(address), 'http://127.0.0.1:8080/v');
  }
  assert.equal(sourceName('https://localhost'), 'https://127.0.0.1');
  for (const other of [
    'http://localhost.example:8080',
    'http://[::1]:8080',
    'http://127.0.0.2:8080',
    'embedded 1',
  ]) {
    assert.equal(sourceName(other), other);
  }
});

test('only hosts of this machine are asked without encryption', () => {
  for (const host of ['[::1]', '127.0.0.1', '127.10.20.30', 'localhost', 'a.localhost'])
    assert.ok(isLoopback(host), host);
  const others = '127.0.0.1.example 1127.0.0.1 127.1 notlocalhost localhost.example [::2] 10.0.0.1';
  for (const host of others.split(' ')) assert.ok(!isLoopback(host), host);
});
