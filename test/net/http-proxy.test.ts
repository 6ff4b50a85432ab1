import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PerilbookError } from '../../src/base/errors.ts';
import { proxyFor, proxyNotice } from '../../src/net/http-proxy.ts';
import { fc } from '../properties.ts';

test('the variables name the proxy of an address as curl reads them, and never one for loopback', () => {
  const [upper, lower] = ['http://upper.example:3128', 'lower.example'];
  const name = (address: string, env: Record<string, string>) =>
    proxyFor(address, env)?.name ?? null;
  assert.equal(name('https://h.example', { HTTPS_PROXY: upper }), 'upper.example:3128');
  assert.equal(
    name('https://h.example', { HTTPS_PROXY: upper, https_proxy: lower }),
    'lower.example:80',
  );
  assert.equal(
    name('https://h.example', { HTTPS_PROXY: 'http://ann:secret@upper.example:3128' }),
    'upper.example:3128',
  );
  assert.equal(name('https://h.example', { HTTPS_PROXY: upper, https_proxy: '' }), null);
  assert.equal(name('https://h.example', { HTTP_PROXY: upper }), null);
  assert.equal(name('http://h.example', { HTTP_PROXY: upper }), 'upper.example:3128');
  const both = { HTTPS_PROXY: upper, HTTP_PROXY: upper };
  for (const local of [
    'https://localhost:1',
    'https://127.0.0.1',
    'https://127.10.20.30',
    'http://[::1]:8080',
  ])
    assert.equal(name(local, both), null);
  assert.equal(name('http://service.localhost', both), null);
  for (const other of [
    'https://mylocalhost',
    'https://localhost.example',
    'https://127.0.0.1.example',
  ])
    assert.equal(name(other, both), 'upper.example:3128', other);
  assert.equal(
    name('https://h.example', { HTTPS_PROXY: 'https://secure.example' }),
    'secure.example:443',
  );
  assert.equal(
    name('http://h.example', { HTTP_PROXY: upper, NO_PROXY: 'h.example:443' }),
    'upper.example:3128',
  );
  assert.equal(name('http://h.example', { HTTP_PROXY: upper, NO_PROXY: 'h.example:80' }), null);
  for (const [exceptions, isProxied] of [
    ['h.example', false],
    ['.h.example', false],
    ['*.example other', false],
    ['*', false],
    ['a.b, H.EXAMPLE:443', false],
    ['a.b,,  ', true],
    ['h.example:8443', true],
    ['ample', true],
    ['x.h.example', true],
  ] as const)
    assert.equal(
      name('https://h.example', { HTTPS_PROXY: upper, NO_PROXY: exceptions }) !== null,
      isProxied,
      exceptions,
    );
  for (const proxy of ['socks5://s.example', 'httpss://s.example', 'xhttp://s.example', 'http://['])
    assert.throws(() => proxyFor('https://h.example', { HTTPS_PROXY: proxy }), {
      code: 'USAGE',
      message: /proxy in HTTPS_PROXY cannot be read: /,
    });
});

test('ALL_PROXY is the proxy where none is named for the scheme', () => {
  const name = (address: string, env: Record<string, string>) =>
    proxyFor(address, env)?.name ?? null;
  const all = { ALL_PROXY: 'http://all.example:1', all_proxy: 'http://small.example:1' };
  assert.equal(name('https://h.example', all), 'small.example:1');
  assert.equal(name('http://h.example', { ALL_PROXY: 'all.example:1' }), 'all.example:1');
  const both = { ALL_PROXY: 'http://all.example:1', HTTPS_PROXY: 'http://one.example:1' };
  assert.equal(name('https://h.example', both), 'one.example:1');
  assert.equal(name('http://h.example', both), 'all.example:1');
  assert.equal(name('https://h.example', { ...both, HTTPS_PROXY: '' }), null);
  assert.equal(name('https://h.example', { ...all, NO_PROXY: '*' }), null);
});

test('NO_PROXY names hosts, addresses and networks', () => {
  const isProxied = (host: string, exceptions: string) =>
    proxyFor(`https://${host}/x`, { HTTPS_PROXY: 'p.example', no_proxy: exceptions }) !== null;
  for (const [host, exceptions, expected] of [
    ['10.1.2.3', '10.0.0.0/8', false],
    ['11.1.2.3', '10.0.0.0/8', true],
    ['10.1.2.3', '10.1.2.3', false],
    ['10.1.2.3', '10.1.2.4/31', true],
    ['10.1.2.5', '10.1.2.4/31', false],
    ['10.1.2.3', '0.0.0.0/0', false],
    ['10.1.2.3', '10.0.0.0/33', true],
    ['10.1.2.3', '10.0.0.0/', false],
    ['10.1.2.3', '10.0.0.0/x', true],
    ['10.1.2.3', '2.3', true],
    ['10.1.2.3:8443', '10.1.2.3:8443', false],
    ['10.1.2.3:8443', '10.1.2.3:443', true],
    ['[2001:db8::7]', '2001:db8::/32', false],
    ['[2001:db9::7]', '2001:db8::/32', true],
    ['[2001:db8::7]', '[2001:DB8::7]', false],
    ['[2001:db8::7]', '2001:db8:0::7', false],
    ['[2001:db8::7]:8443', '[2001:db8::7]:8443', false],
    ['[2001:db8::7]:8443', '[2001:db8::7]:1', true],
    ['[2001:db8::7]', '10.0.0.0/8, x.example  2001:db8::/64', false],
    ['[::ffff:10.1.2.3]', '10.0.0.0/8', true],
    ['h.example', '10.0.0.0/8,2001:db8::/32,example.', false],
    ['h.example', '.', true],
    ['h.example', '*.', true],
    ['hexample', 'example', true],
  ] as const)
    assert.equal(isProxied(host, exceptions), expected, `${host} ${exceptions}`);
});

test('an entry of NO_PROXY that seems to name the host, and does not, is told', () => {
  const notice = (host: string, exceptions: string) =>
    proxyNotice(proxyFor(`https://${host}/x`, { HTTPS_PROXY: 'p.example', no_proxy: exceptions })!);
  for (const [host, exceptions, misread] of [
    ['172.17.0.5', 'a.example,172.17.*', '172.17.*'],
    ['172.17.0.5', '172.17.', '172.17.'],
    ['172.17.0.5', '172.*.0.*:443', '172.*.0.*:443'],
    ['h.example.com', '*example.com', '*example.com'],
    ['h.example.com', 'H.*', 'h.*'],
    ['h.example.com', 'https://h.example.com:443/v1?key=geheim', 'https://h.example.com:443'],
    ['[2001:db8::7]', '2001:db8:*', '2001:db8:*'],
    ['172.18.0.5', '172.17.*', null],
    ['h.example.com', '*example.org', null],
    ['h.example.com', 'h.example.com:8443', null],
    ['h.example.com', '**h**e*', null],
    ['h.example.com', '\u001b[31m*,*\u001b[31m', null],
  ] as const)
    assert.equal(
      notice(host, exceptions),
      `Calls go through the proxy p.example:80 (HTTPS_PROXY).${
        misread === null
          ? ''
          : ` In NO_PROXY, ${misread} does not name this host: write a host, a domain (example.com) or a network (172.17.0.0/16).`
      }`,
    );
});

/** The user and the password that a proxy gets. */
function loginOf(address: string): string | null {
  const { authorization } = proxyFor('https://h.example', { HTTPS_PROXY: address })!;
  return authorization === null
    ? null
    : Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
}

test('the address of a proxy as people write it', () => {
  for (const [address, login, name = 'p.example:3128'] of [
    ['p.example:3128', null],
    ['  http://p.example:3128/  ', null],
    ['"http://p.example:3128"', null],
    ['“http://p.example:3128”', null],
    ["'ann:pw@p.example:3128'", 'ann:pw'],
    ['HTTP://P.Example:3128', null],
    ['http://ann:p%ss@p.example:3128', 'ann:p%ss'],
    ['http://ann:p%41ss@p.example:3128', 'ann:pAss'],
    ['http://ann:100%@p.example:3128', 'ann:100%'],
    ['http://ann:p%C3%A4ss@p.example:3128', 'ann:päss'],
    ['http://ann:päss@p.example:3128', 'ann:päss'],
    ['DOMAIN\\ann:pw@p.example:3128', 'DOMAIN\\ann:pw'],
    ['http://DOMAIN\\ann:p%ss@p.example:3128', 'DOMAIN\\ann:p%ss'],
    ['http://ann:p@ss@p.example:3128', 'ann:p@ss'],
    ['http://ann:p/ss#1?@p.example:3128', 'ann:p/ss#1?'],
    ['http://ann:p:ss@p.example:3128', 'ann:p:ss'],
    ['http://ann@p.example:3128', 'ann:'],
    ['http://:pw@p.example:3128', ':pw'],
    ['https://ann:pw@[2001:db8::7]:3128', 'ann:pw', '[2001:db8::7]:3128'],
    ['http://10.0.0.7', null, '10.0.0.7:80'],
  ] as const) {
    assert.equal(loginOf(address), login, address);
    const proxy = proxyFor('https://h.example', { HTTPS_PROXY: address })!;
    assert.equal(proxy.name, name, address);
    assert.ok(!proxy.url.includes('@'), proxy.url);
  }
});

test('what is no proxy is refused with the reason', () => {
  for (const [address, reason] of [
    ['http://p.example/proxy.pac', /a PAC file is not a proxy/],
    ['http://p.example:8080/wpad.dat', /a PAC file is not a proxy/],
    ['http://ann:pw@p.example/proxy.pac', /a PAC file is not a proxy/],
    ['file:///etc/proxy.pac', /neither http/],
    ['pac+http://p.example/proxy.pac', /neither http/],
    ['http://p.example:3128/x', /a path, which no proxy has/],
    ['http://p.example:3128?x', /a path/],
    ['socks5h://p.example:1080', /SOCKS is not supported/],
    ['ftp://p.example', /neither http/],
    ['http://p.example:99999', /port/],
    ['http://p.example:port', /names no host/],
    ['http://p.example:0', /port is none/],
    ['$PROXY', /a variable in it was not replaced/],
    ['http://ann:p$w@%PROXY_HOST%:3128', /a variable in it was not replaced/],
    ['%CORP_PROXY%', /a variable in it was not replaced/],
    ['http://', /names no host/],
    ['http://ann:pw@', /names no host/],
    ['http://p example:1', /names no host/],
    ['http://p%20.example', /names no host/],
    ['http://256.1.1.1:80', /host/],
    ['http://ann:p%0d%0aw@p.example', /control character/],
    ['"http://p.example', /a path|names no host/],
    ['http://p.example:80/x@y', /a path/],
  ] as const)
    assert.throws(
      () => proxyFor('https://h.example', { https_proxy: address }),
      { code: 'USAGE', message: reason },
      address,
    );
});

test('any text is a proxy or is refused, and no password is in a message', () => {
  const secret = 'gEhEiM7';
  const part = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.constantFrom(
      ...['http://', 'https:', '@', ':', '/', '\\', '%', '%0', '%zz', '"', "'", '[', ']', '#', '?'],
      ...['p.example', ':3128', 'DOMAIN\\', '.pac', ' ', '\n', '::1', '\u0000', 'ä', '\ud800'],
    ),
  );
  const texts = fc.tuple(fc.array(part), fc.array(part)).map(([before, after]) => ({
    text: `${before.join('')}${secret}${after.join('')}`,
    // A name of a host alone is shown.
    isSecret: after.join('').includes('@'),
  }));
  const seen = { read: 0, refused: 0 };
  fc.assert(
    fc.property(texts, fc.string(), ({ text, isSecret }, exceptions) => {
      try {
        const proxy = proxyFor('https://h.example', { HTTPS_PROXY: text, NO_PROXY: exceptions });
        if (proxy === null) return;
        seen.read += 1;
        assert.ok(URL.canParse(proxy.url) && /^(Basic [\w+/=]+)?$/.test(proxy.authorization ?? ''));
        if (isSecret)
          assert.ok(!`${proxy.url}${proxy.name}`.toLowerCase().includes(secret.toLowerCase()));
      } catch (error) {
        assert.ok(error instanceof PerilbookError && error.code === 'USAGE', String(error));
        assert.ok(
          !`${error.message}${error.hint}${JSON.stringify(error.context)}`.includes(secret),
        );
        seen.refused += 1;
      }
    }),
    { numRuns: 3_000 },
  );
  assert.ok(seen.read > 20 && seen.refused > 20, JSON.stringify(seen));
});
