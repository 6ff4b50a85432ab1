/** The libraries of the page, by the names under which it imports them. They are served unchanged, without a bundler. A checkout has them
 * as development dependencies; the build copies them beside the page, so that the installed package does not need them. */
export const PAGE_LIBRARIES = ['preact', 'preact/hooks', 'htm', '@preact/signals', '@preact/signals-core'];

/** The name of a library's file among the page's assets. */
export const libraryFile = (specifier: string): string => `library-${specifier.replaceAll(/\W+/g, '-')}.js`;

export const libraryInCheckout = (specifier: string): URL => new URL(import.meta.resolve(specifier));
