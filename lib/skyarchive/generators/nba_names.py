"""Words that players' names are made of, with the apostrophes and accents that real ones have."""

FIRST = """
Aaron Abdou Alonzo Andre Antoine Ben Boris Brent Calvin Carlos Cedric Chris Clifford Damon Darius
Dee Derek Devin Dominic Dwayne Earl Eddie Emeka Erick Francisco Gerald Goran Hakeem Hidayet Isaiah
Jamal Jarvis Jérôme Joël Jordan José Julius Keith Kenyon Lamar Leandro Luka Malik Marcus Mario
Maurice Mehmet Nenê Nikola Omar Patrick Pau Quentin Rashad Raül Reggie Rodney Samuel Sasha Sergio
Shaun Stéphane Terrence Tony Tyrone Vincent Wally Xavier Yao Zoran
"""
LAST = """
Abernathy Adekunle Ajayi Alvarado Banks Barker Bjelić Bogdanović Brooks Bryce Calderón Carver
Chandler Coleman Crawford D'Angelo Daniels Dragić Dunmore Ekezie Ellison Fontaine Foster Gaines
García Garrison Ginóbili Graham Hallström Hammond Harlow Henriksson Holloway Ilgauskas Ingram
Jackson James Jefferson Johnson Jones Jović Kirkland Kovač Langford Lawson M'Baye Marbury Marshall
Mbenga Miller Mitchell Montgomery Murray N'Diaye Nesterović Nowak O'Bannon O'Connell O'Neal Okafor
Okur Outlaw Parker Peterson Pryor Quigley Radmanović Ramsey Redmond Rhodes Robinson Rodríguez
Sabonis Šarić Sherwood Simmons Smith Songaila Stojaković Sullivan Taylor Thibodeaux Tomašević Turner
Udoh Valentine Varejão Wallace Washington Webster Whitfield Williams Wright Yarborough Young Žižić
"""
