"""The model itself: vocabulary, tokenizer, weights, and the transformer over them."""
