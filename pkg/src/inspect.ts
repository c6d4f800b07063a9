/** How handles look in Node, Bun and Deno when somebody prints them. */

/** What `console.log` asks for. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');

type Print = (value: unknown, options: unknown) => string;

/** The own fields, under the name of the interface; what throws when it is read is left out. */
export function printed(name: string, of: object, options: unknown, print: Print): string {
  const fields: Record<string, unknown> = {};
  for (const field of Object.keys(of)) {
    try {
      fields[field] = (of as Record<string, unknown>)[field];
    } catch {
      // A codec's error is thrown to whoever reads the payload, not to whoever logs.
    }
  }
  return `${name} ${print(fields, options)}`;
}
