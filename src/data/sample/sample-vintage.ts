/** Names the sample data in stores. Raise it whenever the generator makes other records than before from equal options. */
export const SAMPLE_VINTAGE = 'sample-1';
