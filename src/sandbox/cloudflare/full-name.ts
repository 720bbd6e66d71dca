/** The full name of a record, lower case, without trailing dot: `@`, relative names and names outside the zone are completed by the zone's name. */
export function fullName(name: string, zone: string): string {
  const bare = name.toLowerCase().replace(/\.$/, "");
  if (bare === "@" || bare === "" || bare === zone) return zone;
  return bare.endsWith(`.${zone}`) ? bare : `${bare}.${zone}`;
}
