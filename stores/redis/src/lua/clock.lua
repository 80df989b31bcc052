return int(claims_at('0'))
