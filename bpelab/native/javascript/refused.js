// What a file asks for and this library can't do exactly, or what is wrong with it: a sentence for people.

export class Refused extends Error {
  constructor(message) {
    super(message);
    this.name = "Refused";
  }
}
