/** The few things that the page does with elements. */

/** @throws Error when the page has no such element of that kind */
export function find<Kind extends Element>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (element instanceof kind) return element;
  throw new Error(`the page has no ${kind.name} #${id}`);
}

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  ...content: (string | Node)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  element.append(...content);
  return element;
}

export function button(text: string, press: () => void): HTMLButtonElement {
  const element = make('button', text);
  element.type = 'button';
  element.addEventListener('click', press);
  return element;
}

/** Term and definition, as one line of a list of facts. */
export function fact(term: string, definition: string | number): HTMLElement {
  return make('div', make('dt', term), make('dd', String(definition)));
}

export function row(...cells: (string | Node)[]): HTMLTableRowElement {
  return make('tr', ...cells.map((cell) => make('td', cell)));
}

/** Replaces the rows, and leaves the focus on what it was on. */
export function fill(body: HTMLElement, rows: HTMLElement[]): void {
  const key = document.activeElement?.getAttribute('data-key');
  body.replaceChildren(...rows);
  if (key === null || key === undefined) return;
  body.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** A number field's value, or its smallest when it holds none. */
export function numberOf(form: HTMLFormElement, name: string): number {
  const field = form.elements.namedItem(name) as HTMLInputElement;
  return Number.isNaN(field.valueAsNumber) ? Number(field.min) : field.valueAsNumber;
}

/** How long from now, for people. */
export function until(at: number): string {
  const left = at - Date.now();
  return left < 0 ? 'over' : `${(left / 1_000).toFixed(1)} s`;
}
