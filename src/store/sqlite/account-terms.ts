import type Database from 'better-sqlite3';
import type { AccountTerms, KnownAccount } from '../port.ts';

/** The terms of the accounts that runs have spent; `remember` runs inside the caller's transaction. */
export function accountTermsStatements(database: Database.Database) {
  const put = database.prepare('INSERT OR REPLACE INTO account_terms (account, terms, run) VALUES (?, ?, ?)');
  const all = database.prepare<[], { account: string; terms: string }>(
    'SELECT account, terms FROM account_terms ORDER BY run DESC, account',
  );
  return {
    remember(run: number, accounts: readonly KnownAccount[]): void {
      for (const { name, subscription, anniversaryDay, reserve, overageCredits, spentElsewhere } of accounts) {
        const terms: AccountTerms = { subscription, anniversaryDay, reserve, overageCredits, spentElsewhere };
        put.run(name, JSON.stringify(terms), run);
      }
    },
    /** The account of the latest run first. */
    known: (): KnownAccount[] =>
      all.all().map(({ account, terms }) => ({ name: account, ...(JSON.parse(terms) as AccountTerms) })),
  };
}
