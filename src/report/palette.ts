/** How a text is emphasised; each function returns its argument with or without terminal codes around it. */
export interface Palette {
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly notable: (text: string) => string;
}

/** The palette of a pipe: no codes at all. */
export const PLAIN: Palette = {
  strong: (text) => text,
  faint: (text) => text,
  good: (text) => text,
  bad: (text) => text,
  notable: (text) => text,
};
