/** What an answer that is no success says. */
export interface Complaint {
  /** One line for people, cut to a few hundred characters. */
  readonly text: string;
  /** False when it is not an error of the API at all (a proxy's page). */
  readonly hasModel: boolean;
}
