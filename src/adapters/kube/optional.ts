/** An object of one member, or of none when the value is undefined: to the compiler, absent and undefined differ. Pure. */
export function optional<K extends string, V>(name: K, value: V | undefined): { readonly [P in K]?: V } {
  return value === undefined ? {} : ({ [name]: value } as { readonly [P in K]: V });
}
